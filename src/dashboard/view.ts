/** A view of the page: made once for its address, then kept current. */
import type { ForeshockClient } from '../client/client.ts';
import type { Feed } from './feed.ts';
import type { Needs } from './needs.ts';
import type { PageStore, TableName } from './store.ts';

/** What views are made from. */
export interface Page {
  readonly store: PageStore;
  readonly feed: Feed;
  readonly needs: Needs;
  readonly client: () => ForeshockClient;
}

export interface View {
  /** What it shows, to be told from other tabs. */
  title(): string;
  /** The tables whose changes it shows. */
  readonly reads: readonly TableName[];
  /** Called when one of those has changed, and every second. */
  update(): void;
}

export interface Route {
  /** `#/services/<id>` has the parts `services` and the id. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
}

export function routeOf(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  const parts = path.split('/').filter((part) => part !== '');
  return { parts: parts.map(decoded), query: new URLSearchParams(query) };
}

export function addressOf(parts: readonly string[], query: Readonly<Record<string, string>> = {}): string {
  const search = new URLSearchParams(query).toString();
  return `#/${parts.map(encodeURIComponent).join('/')}${search === '' ? '' : `?${search}`}`;
}

/** Changes what stands behind the question mark, without a step in the history. */
export function keepInAddress(parts: readonly string[], query: Readonly<Record<string, string>>): void {
  history.replaceState(null, '', addressOf(parts, query));
}

/** An address may be anything that somebody has typed. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
