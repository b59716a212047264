/** Fixed limits of what a request may hold. Strings are counted in characters (Unicode code points). */
export const LIMITS = {
  /** service_name, vendor, entity, actor, hostname, name, version … */
  nameLength: 512,
  shaLength: 128,
  /** old_value, new_value */
  valueLength: 4096,
  rawLineLength: 8192,
  /** Ten years: an expiry stays a date that every client can read. */
  ttlSeconds: 10 * 365 * 24 * 3600,
  jsonDepth: 32,
  batchEvents: 10_000,
  configBytes: 16 * 1024,
  toolDeliveryIdLength: 256,
} as const;
