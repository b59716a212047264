/** Lists that the server gives in pages, newest first, as one. */

/** Pages are fetched as they are needed, this many entries at a time. */
export const PAGE_SIZE = 100 as const;

interface Page<Entry> {
  readonly entries: readonly Entry[];
  readonly total_pages: number;
}

/**
 * Every entry that there was at the beginning, once. What comes meanwhile pushes the others to later pages: those that
 * were seen are not told again, and what is new is not told at all.
 */
export async function* entriesOf<Entry extends { readonly id: string }>(
  fetchPage: (page: number) => Promise<Page<Entry>>,
): AsyncGenerator<Entry, void, undefined> {
  const seen = new Set<string>();
  for (let page = 1; ; page++) {
    const { entries, total_pages: pages } = await fetchPage(page);
    for (const entry of entries) {
      if (seen.has(entry.id)) continue;
      seen.add(entry.id);
      yield entry;
    }
    if (page >= pages) return;
  }
}
