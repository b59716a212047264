/** Names inside messages, in the quotation marks of the server's languages: "x", »x«, « x », „x“, 「x」. */

const QUOTED = /["»«„“”「『‹›]\s{0,2}([^"»«„“”「」『』‹›]{1,1024}?)\s{0,2}["»«“”」』›‹]/;

/** The first quoted name of the text, or null where it has none. */
export function quotedIn(text: string): string | null {
  return QUOTED.exec(text)?.[1] ?? null;
}
