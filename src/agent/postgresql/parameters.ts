/**
 * What a reload of the configuration changed. The server names the new value only, so the last one seen is
 * remembered for `old_value`: a parameter's first change has none.
 *
 * A file with errors ends with a summary line. It is an event where it says that something was refused: the
 * complaint before it is its reason, and joins it. Where the only trouble is parameters that wait for a restart, they
 * have had their own events and the summary is none.
 */
import { withEntry } from './bounded-map.ts';
import type { LogEntry } from './entry.ts';
import type { Finding } from './kinds.ts';
import { quotedIn } from './quoted.ts';
import { isFromServer } from './sessions.ts';
import { shareableValue } from './shareable.ts';

export interface Configuration {
  /** Last known value by parameter, as it may be shared. */
  readonly values: ReadonlyMap<string, string>;
  /** What the server said of the file that it is reading; null where it is content. */
  readonly complaint: string | null;
}

export const NO_CONFIGURATION: Configuration = { values: new Map(), complaint: null };

/** PostgreSQL has some 370 parameters; extensions and custom ones add to them. */
const MAX_PARAMETERS = 512;

/** What `old_value` and `new_value` say of a parameter that is no longer in the file: the line has no value. */
const DEFAULT_VALUE = 'default';

const RELOADING = /^received SIGHUP, reloading configuration files/;
const CHANGED = /^parameter "(?<name>[^"]{1,256})" changed to "(?<value>[\s\S]*)"$/;
const REMOVED = /^parameter "(?<name>[^"]{1,256})" removed from configuration file, reset to default/;
const COMPLAINT =
  /^(?:unrecognized configuration parameter |invalid value for parameter |syntax error in file |could not open configuration |parameter "[^"]*" (?:requires |cannot be changed now))|is outside the valid range for parameter "/;

/** SQLSTATEs: 55P02 cant_change_runtime_param, F0000 config_file_error. */
const PENDING = {
  state: '55P02',
  text: /^parameter "[^"]+" cannot be changed without restarting the server/,
};
const SUMMARY = { state: 'F0000', text: /^configuration file "[^"]+" contains errors/ };

interface Step {
  readonly configuration: Configuration;
  readonly finding: Finding | null;
}

export function readConfiguration(configuration: Configuration, entry: LogEntry): Step {
  const none = { configuration, finding: null };
  // A client who SETs what cannot be set gets the same SQLSTATE, as an ERROR of its session.
  if (!isFromServer(entry) || entry.severity === 'ERROR') return none;
  const { message } = entry;
  if (RELOADING.test(message)) return { configuration: { ...configuration, complaint: null }, finding: null };
  if (COMPLAINT.test(message)) {
    return { configuration: { ...configuration, complaint: shareableValue(message) }, finding: null };
  }
  const changed = CHANGED.exec(message)?.groups ?? REMOVED.exec(message)?.groups;
  if (changed?.['name'] !== undefined)
    return change(configuration, changed['name'], changed['value'] ?? DEFAULT_VALUE);
  if (says(PENDING, entry))
    return { configuration, finding: pending(configuration, quotedIn(message) ?? 'parameter') };
  if (says(SUMMARY, entry)) return summary(configuration, entry);
  return none;
}

function says(
  line: { readonly state: string; readonly text: RegExp },
  { sqlState, message }: LogEntry,
): boolean {
  return sqlState === null ? line.text.test(message) : sqlState === line.state;
}

function change(configuration: Configuration, name: string, rawValue: string): Step {
  const newValue = shareableValue(rawValue);
  const values = withEntry(configuration.values, name, newValue, MAX_PARAMETERS);
  const finding: Finding = {
    kind: 'parameter-changed',
    entity: name,
    ...oldValueOf(configuration, name),
    newValue,
  };
  return { configuration: { ...configuration, values }, finding };
}

function pending(configuration: Configuration, name: string): Finding {
  return {
    kind: 'parameter-pending',
    entity: name,
    ...oldValueOf(configuration, name),
    newValue: 'pending restart',
  };
}

function oldValueOf({ values }: Configuration, name: string): Pick<Finding, 'oldValue'> {
  const oldValue = values.get(name);
  return oldValue === undefined ? {} : { oldValue };
}

function summary(configuration: Configuration, { message }: LogEntry): Step {
  const { complaint } = configuration;
  const heard: Configuration = { ...configuration, complaint: null };
  if (complaint === null && /; unaffected changes were applied$/.test(message))
    return { configuration: heard, finding: null };
  const outcome =
    /^configuration file "[^"]+" (?<outcome>contains errors.*)$/.exec(message)?.groups?.['outcome'] ??
    message;
  const finding: Finding = {
    kind: 'configuration-refused',
    entity: quotedIn(message) ?? 'configuration file',
    newValue: complaint === null ? outcome : `${outcome}: ${complaint}`,
    sameAs: complaint ?? outcome,
  };
  return { configuration: heard, finding };
}
