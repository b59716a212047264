/** The composition root: one straight line from settings to a serving process, each stop registered at once. */
import manifest from '../package.json' with { type: 'json' };
import { type AdminOptions, administer, createFirstKeys, type FirstKeys } from './admin/operations.ts';
import { claimDirectory, serveAdmin } from './admin/socket.ts';
import { makeCheckpointOnThread } from './checkpoint-thread.ts';
import { checkSettings, type Settings } from './config.ts';
import { type Engine, openEngine } from './engine.ts';
import { EventTranscoder } from './events/transcoder.ts';
import type { Api } from './http/api.ts';
import { connectionsWithin } from './http/connections.ts';
import { dashboardRoutes } from './http/dashboard.ts';
import { listen } from './http/listener.ts';
import { Overload } from './http/overload.ts';
import { RateLimiter } from './http/rate-limiter.ts';
import { requestIds } from './http/request-id.ts';
import { routes } from './http/routes.ts';
import { Traffic } from './http/traffic.ts';
import type { Certificate } from './lib/certificate.ts';
import type { Clock } from './lib/clock.ts';
import type { Disk } from './lib/disk.ts';
import { type Entropy, randomFraction } from './lib/entropy.ts';
import { EventLoopMeter } from './lib/event-loop.ts';
import { openFileLimit } from './lib/file-limit.ts';
import { giveBackFreedMemory } from './lib/freed-memory.ts';
import { Late } from './lib/late.ts';
import type { Logger } from './lib/logger.ts';
import type { Scheduler } from './lib/scheduler.ts';
import { StopStack } from './lib/stop-stack.ts';
import { Lifecycle } from './lifecycle.ts';
import type { ReplayProgress } from './log/replay.ts';
import { metricsText } from './metrics/metrics.ts';
import { Lister } from './queries/lister.ts';
import { type Reactors, startReactors } from './reactors/reactors.ts';
import { ServedCertificate } from './served-certificate.ts';

export interface ServerDependencies {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly entropy: Entropy;
  readonly logger: Logger;
  /** A broken invariant or a failed sync: ends the process. */
  readonly onFatal: (error: Error) => void;
  readonly onProgress?: (progress: ReplayProgress) => void;
}

export interface RunningServer {
  /** Null where it listens on a socket alone. */
  readonly port: number | null;
  /** What webhook URLs start with. */
  readonly baseUrl: string;
  /** Given on the first start of a data directory, and never again. */
  readonly firstKeys: FirstKeys | undefined;
  /** Commands replayed from the log. */
  readonly replayed: number;
  /** The server before this one on the data directory stopped in order. */
  readonly cleanShutdown: boolean;
  /** Null is plain HTTP. */
  readonly certificate: Certificate | null;
  /** Serves new connections with what the files of certificate and key hold by now; logs what comes of it. */
  reloadCertificate(): void;
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
  const onTrouble = (error: unknown) =>
    logger.error({ err: error }, 'something went wrong; nothing is lost by it');
  try {
    const certificate = new ServedCertificate(settings, dependencies);
    disk.makeDirectory(settings.dataDirectory);
    const socket = await claimDirectory(settings.dataDirectory);
    stops.push(() => socket.release());

    // The port opens before the log is replayed: whoever asks meanwhile is told how far it is.
    const lifecycle = new Lifecycle();
    const engine = new Late<Engine>();
    const traffic = new Traffic(clock);
    const reactors = new Late<Reactors>();
    const eventLoop = new EventLoopMeter();
    const overload = new Overload({
      targetMs: settings.shedAfterMs,
      clock,
      idleMs: () => eventLoop.idleMs(),
      connections: () => traffic.connections.open,
    });
    overload.watch(scheduler);
    const rateLimiter = new RateLimiter(settings, clock);
    const api = apiOf(engine, { entropy, rateLimiter, lister: new Lister(scheduler) }, () =>
      metricsText({
        version: manifest.version,
        clock,
        eventLoop,
        traffic,
        overload,
        inFlight: listener.inFlight,
        certificateExpiresAtMs: certificate.current?.expiresAtMs,
        isReady: lifecycle.unavailable() === undefined,
        engine: engine.isSet ? engine.value : undefined,
        reactors: reactors.isSet ? reactors.value : undefined,
      }),
    );
    const maxConnections = connectionsWithin(settings.maxConnections, openFileLimit());
    if (maxConnections < settings.maxConnections) {
      logger.warn(`at most ${maxConnections} connections, for the limit of open files allows no more`);
    }
    const listener = await listen({
      host: settings.host,
      port: settings.port === 'none' ? null : settings.port,
      socket: settings.socket === null ? null : { path: settings.socket, mode: settings.socketMode },
      certificate: certificate.current,
      routes: [
        ...routes(api, settings, () => ({
          unavailable: lifecycle.unavailable(),
          trouble: engine.isSet ? engine.value.pipeline.trouble : undefined,
        })),
        ...dashboardRoutes(),
      ],
      keys: {
        get: (hash) => engine.value.state.keysByHash.get(hash),
        revocations: () => engine.value.state.revocations,
      },
      maxBodyBytes: settings.maxBodyBytes,
      maxWebhookBodyBytes: settings.maxWebhookBodyBytes,
      scheduler,
      clock,
      traffic,
      rateLimiter,
      trustProxy: settings.trustProxy,
      overload,
      maxConnections,
      newRequestId: requestIds(entropy),
      unavailable: () => lifecycle.unavailable(),
      onThrow: (error, requestId) => logger.error({ err: error, requestId }, 'a request failed'),
    });
    stops.push(() => listener.close());
    eventLoop.start();
    stops.push(() => eventLoop.stop());
    const baseUrl = settings.baseUrl ?? listenedOn(settings, certificate.current, listener.port);

    engine.set(
      await openEngine({
        settings,
        disk,
        clock,
        scheduler,
        entropy,
        baseUrl: () => baseUrl,
        onFatal,
        makeCheckpoint: makeCheckpointOnThread,
        onTrouble,
        onWriteTrouble: (reason) => {
          if (reason === undefined) logger.info('writes are tried again');
          else logger.error({ reason }, 'writes are not taken');
        },
        onProgress: (progress) => {
          lifecycle.replaying(progress);
          dependencies.onProgress?.(progress);
        },
      }),
    );
    const { state, pipeline, replayed, notices, cleanShutdown, close } = engine.value;
    stops.push(close);
    for (const notice of notices) logger.warn(notice);

    const admin: AdminOptions = { state, pipeline, entropy };
    const firstKeys = await createFirstKeys(admin);
    serveAdmin(socket, (request) => administer(admin, request));

    const started = startReactors({
      ...engine.value,
      scheduler,
      random: () => randomFraction(entropy),
      baseUrl: () => baseUrl,
      outboundAllow: settings.outboundAllow,
      pagerdutyApiUrl: settings.pagerdutyApiUrl,
      pagerdutyEventsUrl: settings.pagerdutyEventsUrl,
      agentStaleAfterMs: settings.agentStaleAfterSeconds * 1000,
      onTrouble,
    });
    stops.push(() => started.stop());
    reactors.set(started);

    // Now nobody waits: of 160 MB, 6 to 15 are free once the log has been replayed.
    await giveBackFreedMemory();
    lifecycle.serving();
    stops.push(async () => {
      lifecycle.stopping();
      listener.stopAccepting();
      engine.value.streams.stop();
      for (let waitedMs = 0; listener.inFlight > 0 && waitedMs < DRAIN_MS; waitedMs += DRAIN_POLL_MS) {
        await new Promise((resolve) => setTimeout(resolve, DRAIN_POLL_MS));
      }
      listener.close();
    });

    return {
      port: listener.port,
      baseUrl,
      firstKeys,
      replayed,
      cleanShutdown,
      certificate: certificate.current,
      reloadCertificate: () => certificate.reload((next) => listener.useCertificate(next)),
      stop: () => stops.run(),
    };
  } catch (error) {
    await stops.run();
    throw error;
  }
}

function apiOf(
  engine: Late<Engine>,
  given: Pick<Api, 'entropy' | 'rateLimiter' | 'lister'>,
  metrics: () => string,
): Api {
  return {
    ...given,
    metrics,
    version: manifest.version,
    transcoder: new EventTranscoder(),
    get pipeline() {
      return engine.value.pipeline;
    },
    get streams() {
      return engine.value.streams;
    },
    get queries() {
      return engine.value.queries;
    },
    integrationByToken: (token) => engine.value.state.integrationsByToken.get(token)?.context,
  };
}

function listenedOn({ host }: Settings, certificate: Certificate | null, port: number | null): string {
  if (port === null) return 'http://localhost';
  const scheme = certificate === null ? 'http' : 'https';
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
