/** The composition root: one straight line from settings to a serving process, each stop registered at once. */
import { type AdminOptions, administer, createFirstKeys, type FirstKeys } from './admin/operations.ts';
import { listenForAdmin } from './admin/socket.ts';
import { checkSettings, type Settings } from './config.ts';
import { openEngine } from './engine.ts';
import { listen } from './http/listener.ts';
import { routes } from './http/routes.ts';
import type { Clock } from './lib/clock.ts';
import { lockDirectory } from './lib/directory-lock.ts';
import type { Disk } from './lib/disk.ts';
import type { Entropy } from './lib/entropy.ts';
import type { Logger } from './lib/logger.ts';
import type { Scheduler } from './lib/scheduler.ts';
import { StopStack } from './lib/stop-stack.ts';

export interface ServerDependencies {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly entropy: Entropy;
  readonly logger: Logger;
  /** A broken invariant or a failed sync: ends the process. */
  readonly onFatal: (error: Error) => void;
}

export interface RunningServer {
  readonly port: number;
  /** What webhook URLs start with. */
  readonly baseUrl: string;
  /** Given on the first start of a data directory, and never again. */
  readonly firstKeys: FirstKeys | undefined;
  /** Commands replayed from the log. */
  readonly replayed: number;
  /** Answers what is in flight, makes the log durable, and lets go of everything. */
  stop(): Promise<void>;
}

/** How long requests in flight are given when the server stops. */
const DRAIN_MS = 8000;
const DRAIN_POLL_MS = 20;

/** @throws where the directory, the log or the address cannot be had; nothing is left running then */
export async function startServer(
  settings: Settings,
  dependencies: ServerDependencies,
): Promise<RunningServer> {
  const { disk, clock, scheduler, entropy, logger, onFatal } = dependencies;
  checkSettings(settings);
  const stops = new StopStack();
  try {
    disk.makeDirectory(settings.dataDirectory);
    stops.push(await lockDirectory(settings.dataDirectory));

    let baseUrl = settings.baseUrl ?? '';
    const engine = await openEngine({
      settings,
      disk,
      clock,
      scheduler,
      entropy,
      baseUrl: () => baseUrl,
      onFatal,
    });
    stops.push(() => engine.close());
    for (const sentence of engine.mended) logger.warn(sentence);
    const { state, pipeline, queries, replayed } = engine;

    const admin: AdminOptions = { state, pipeline, entropy };
    const firstKeys = replayed === 0 ? await createFirstKeys(admin) : undefined;
    stops.push(await listenForAdmin(settings.dataDirectory, (request) => administer(admin, request)));

    const listener = await listen({
      host: settings.host,
      port: settings.port,
      routes: routes({ pipeline, queries, state, entropy }),
      keys: state.keysByHash,
      maxBodyBytes: settings.maxBodyBytes,
      maxWebhookBodyBytes: settings.maxWebhookBodyBytes,
      scheduler,
      requestIdPrefix: Buffer.from(entropy.bytes(6)).toString('hex'),
      unavailable: () => undefined,
      onThrow: (error, requestId) => logger.error({ err: error, requestId }, 'a request failed'),
    });
    baseUrl = settings.baseUrl ?? `http://${hostInUrl(settings.host)}:${listener.port}`;
    stops.push(async () => {
      listener.stopAccepting();
      for (let waitedMs = 0; listener.inFlight > 0 && waitedMs < DRAIN_MS; waitedMs += DRAIN_POLL_MS) {
        await new Promise((resolve) => setTimeout(resolve, DRAIN_POLL_MS));
      }
      listener.close();
    });

    return { port: listener.port, baseUrl, firstKeys, replayed, stop: () => stops.run() };
  } catch (error) {
    await stops.run();
    throw error;
  }
}

function hostInUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
