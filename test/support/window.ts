import type { TenantId } from '../../src/domain/ids.ts';
import type { Rejection } from '../../src/domain/rejection.ts';
import type { Found, Queries } from '../../src/queries/queries.ts';
import { WindowJson } from '../../src/queries/window-json.ts';

/** What a service's window shows, written at once where it is not known. */
export function serviceContext(queries: Queries, tenantId: TenantId, id: string): Found<Buffer> | Rejection {
  const context = queries.serviceContext(tenantId, id);
  if (!(context instanceof WindowJson)) return context;
  return { type: 'found', json: context.advance(Number.POSITIVE_INFINITY) ?? Buffer.alloc(0) };
}
