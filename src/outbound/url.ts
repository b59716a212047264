/** URLs made of a configured base and of parts that came from elsewhere. */

/**
 * The base with segments below its path, each escaped, so that no segment can add a level, a query or a fragment.
 * A query or fragment of the base itself is dropped: what stands behind a `?` is no path any more. Undefined where
 * the base is no URL, or where a segment is `.` or `..`, which no escaping keeps from being resolved.
 */
export function below(baseUrl: string, segments: readonly string[]): string | undefined {
  const url = URL.parse(baseUrl);
  if (url === null || segments.some((segment) => ['', '.', '..'].includes(segment))) return undefined;
  const path = segments.map((segment) => encodeURIComponent(segment.toWellFormed())).join('/');
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${path}`;
  url.search = '';
  url.hash = '';
  return url.href;
}
