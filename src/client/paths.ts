/** Paths of requests: whatever an id or a filter holds stays in its place. */

export function segment(id: string): string {
  return encodeURIComponent(id);
}

export function integrationPath(id: string): string {
  return `/v1/integrations/${segment(id)}`;
}

export function queryOf(query: object): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return search.size > 0 ? `?${search}` : '';
}
