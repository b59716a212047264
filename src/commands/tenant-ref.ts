import type { TenantId } from '../domain/ids.ts';

/** Whose something is. */
export interface TenantRef {
  readonly id: TenantId;
  /** No other tenant has it. */
  readonly number: number;
}
