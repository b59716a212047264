/** Secrets that are planted, and everything that a system under test said, so that the one can be looked for in the other. */

/** A secret, and the places that may show it: everywhere else it is a leak. */
export interface Planted {
  readonly name: string;
  readonly secret: string;
  /** Beginnings of names of places. */
  readonly allowed: readonly string[];
}

export class Evidence {
  readonly #said: { readonly where: string; readonly text: string }[] = [];
  readonly #planted: Planted[] = [];

  plant(name: string, secret: string, ...allowed: readonly string[]): string {
    if (secret.length < 8) throw new Error(`${name} is too short to be looked for`);
    this.#planted.push({ name, secret, allowed });
    return secret;
  }

  said(where: string, text: string): void {
    this.#said.push({ where, text });
  }

  /** Secrets that stand where they must not, once a place. */
  leaks(): readonly string[] {
    const leaks = this.#said.flatMap(({ where, text }) =>
      this.#planted
        .filter(
          ({ secret, allowed }) => shows(text, secret) && !allowed.some((place) => where.startsWith(place)),
        )
        .map(({ name }) => `${name} in ${where}`),
    );
    return [...new Set(leaks)];
  }

  /** Places that were told of by these beginnings: a search of places that do not exist would find nothing. */
  places(): ReadonlySet<string> {
    return new Set(
      this.#said.filter(({ text }) => text !== '').map(({ where }) => where.split(' ')[0] ?? ''),
    );
  }

  /** Secrets that do stand where they may. */
  seen(): ReadonlySet<string> {
    const found = this.#planted.filter(({ secret }) => this.#said.some(({ text }) => shows(text, secret)));
    return new Set(found.map(({ name }) => name));
  }
}

/** As it is, or as JSON, a URL or base64 would write it. */
function shows(text: string, secret: string): boolean {
  const base64 = Buffer.from(secret).toString('base64').replace(/=+$/, '').slice(0, -1);
  const forms = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), base64];
  return forms.some((form) => text.includes(form));
}
