/** `foreshock/client`: what of this folder is for others. */
export { Batcher, type BatcherOptions } from './batcher.ts';
export { type ClientOptions, ForeshockClient, type SendOptions } from './client.ts';
export { type FailureKind, ForeshockError } from './error.ts';
export type { OnFull } from './event-buffer.ts';
export type { RetryPolicy } from './retry.ts';
export type { StreamMessage, StreamOptions } from './stream.ts';
export type { CallOptions, Fetch } from './transport.ts';
export type * from './wire.ts';
