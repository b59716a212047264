/**
 * What a plugin is: a pure function from a line of a tool's log, and from what it remembers of earlier lines, to
 * an event or nothing. It reads no clock, no file and no network, so a log gives the same events whenever and
 * wherever it is read; what it remembers is a value, so that a reader can keep it, compare it or throw it away.
 */
import type { EventBody } from '../client/wire.ts';

/** A ContextEvent as it is sent. */
export type AgentEvent = EventBody;

export interface PluginContext {
  /** The service whose log this is (OpenTelemetry `service.name`). */
  readonly serviceName: string;
}

/** What one line led to. */
export interface Reading<Memory> {
  /** To be handed in with the next line. */
  readonly memory: Memory;
  readonly event: AgentEvent | null;
}

export interface Plugin<Memory> {
  /** What the operator calls it: `postgresql`. */
  readonly name: string;
  /** The `vendor` of its events. */
  readonly vendor: string;
  readonly initialMemory: Memory;
  /**
   * Reads one physical line, without its line end. Never throws: a line it cannot make out is no event. What it
   * remembers is bounded, whatever the lines.
   */
  read(memory: Memory, line: string, context: PluginContext): Reading<Memory>;
}
