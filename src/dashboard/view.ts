/** A view of the page: made once for its address, then kept current. */

export interface View {
  readonly title: string;
  /** Called when something may have changed, and every second. */
  update(): void;
}

export interface Route {
  /** `#/services/<id>` has the parts `services` and the id. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
}

export function routeOf(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  const parts = path
    .split('/')
    .filter((part) => part !== '')
    .map(decodeURIComponent);
  return { parts, query: new URLSearchParams(query) };
}

export function addressOf(parts: readonly string[], query: Readonly<Record<string, string>> = {}): string {
  const search = new URLSearchParams(query).toString();
  return `#/${parts.map(encodeURIComponent).join('/')}${search === '' ? '' : `?${search}`}`;
}

/** Changes what stands behind the question mark, without a step in the history. */
export function keepInAddress(parts: readonly string[], query: Readonly<Record<string, string>>): void {
  history.replaceState(null, '', addressOf(parts, query));
}
