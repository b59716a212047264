/** What callers and tenants may use at most: the flags of `serve` that say so. */
import type { Command } from 'commander';
import { DEFAULTS, type Settings } from '../config.ts';
import { integer, option } from './options.ts';

/** A flag's value has the name of its setting. */
export type LimitSettings = Pick<
  Settings,
  | 'windowMaxEvents'
  | 'windowMaxBytes'
  | 'maxBodyBytes'
  | 'maxBatchBytes'
  | 'maxWebhookBodyBytes'
  | 'maxConnections'
  | 'maxServices'
  | 'maxIntegrations'
  | 'shedAfterMs'
  | 'rateLimitKey'
  | 'rateLimitTenant'
  | 'rateLimitFailedAuth'
>;

/** Of all flags, those that stand here. */
export function limitSettings(flags: LimitSettings): LimitSettings {
  const { windowMaxEvents, windowMaxBytes, maxBodyBytes, maxBatchBytes, maxWebhookBodyBytes } = flags;
  const { maxConnections, shedAfterMs, maxServices, maxIntegrations } = flags;
  const { rateLimitKey, rateLimitTenant, rateLimitFailedAuth } = flags;
  return {
    ...{ windowMaxEvents, windowMaxBytes, maxBodyBytes, maxBatchBytes, maxWebhookBodyBytes },
    ...{ maxConnections, shedAfterMs, maxServices, maxIntegrations },
    ...{ rateLimitKey, rateLimitTenant, rateLimitFailedAuth },
  };
}

export function addLimitFlags(command: Command): Command {
  return command
    .addOption(
      option('--window-max-events <number>', 'live events a service holds at most')
        .default(DEFAULTS.windowMaxEvents)
        .argParser(integer(1, 10_000_000)),
    )
    .addOption(
      option('--window-max-bytes <number>', 'bytes of live events a service holds at most')
        .default(DEFAULTS.windowMaxBytes)
        .argParser(integer(65_536, 1024 * 1024 * 1024)),
    )
    .addOption(
      option('--max-body-bytes <number>', 'largest request body')
        .default(DEFAULTS.maxBodyBytes)
        .argParser(integer(1024, 16 * 1024 * 1024)),
    )
    .addOption(
      option('--max-batch-bytes <number>', 'largest batch of events')
        .default(DEFAULTS.maxBatchBytes)
        .argParser(integer(1024, 16 * 1024 * 1024)),
    )
    .addOption(
      option('--max-webhook-body-bytes <number>', 'largest webhook body')
        .default(DEFAULTS.maxWebhookBodyBytes)
        .argParser(integer(1024, 16 * 1024 * 1024)),
    )
    .addOption(
      option(
        '--max-connections <number>',
        'connections that are open at most; fewer where the limit of open files is lower',
      )
        .default(DEFAULTS.maxConnections)
        .argParser(integer(1, 1_000_000)),
    )
    .addOption(
      option(
        '--shed-after-ms <number>',
        'how late the event loop may stay before requests are refused with 503, lists first; 0: none is',
      )
        .default(DEFAULTS.shedAfterMs)
        .argParser(integer(0, 60_000)),
    )
    .addOption(
      option('--max-services <number>', 'services a tenant has at most')
        .default(DEFAULTS.maxServices)
        .argParser(integer(1, 100_000_000)),
    )
    .addOption(
      option('--max-integrations <number>', 'integrations a tenant has at most')
        .default(DEFAULTS.maxIntegrations)
        .argParser(integer(1, 100_000)),
    )
    .addOption(
      option('--rate-limit-key <number>', 'requests a second of an API key, a batch counting as its events')
        .default(DEFAULTS.rateLimitKey, 'as many as come')
        .argParser(integer(0, 10_000_000)),
    )
    .addOption(
      option('--rate-limit-tenant <number>', 'requests a second of all keys of a tenant')
        .default(DEFAULTS.rateLimitTenant, 'as many as come')
        .argParser(integer(0, 10_000_000)),
    )
    .addOption(
      option(
        '--rate-limit-failed-auth <number>',
        'requests a second without a good key of an address; 0: no limit',
      )
        .default(DEFAULTS.rateLimitFailedAuth)
        .argParser(integer(0, 10_000_000)),
    );
}
