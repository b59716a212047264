/**
 * Which service an alert is about. Hints are tried in their order, the most telling first, each like this:
 *
 *     1. `config.service_map` of the integration has the hint's name: that service and no other. Where it is none
 *        of ours the search ends here, for the operator has said what it must be.
 *     2. A service has that name.
 *
 * Only when no hint leads anywhere are upper and lower case forgotten, and only where one service is left then.
 */
import type { AlertMatch, ServiceHint } from '../domain/alert.ts';
import { member } from '../domain/json-member.ts';
import { LIMITS } from '../domain/limits.ts';
import { onOneLine, shortened } from '../lib/text.ts';

/** Of a hint, where a reason quotes it. */
const MAX_QUOTED_LENGTH = 80;

/**
 * @param serviceMap `config.service_map` as the tenant left it, of any shape; alerts' names to names of services
 * @param knows whether a service has exactly this name
 * @param serviceNames all names, read only when no hint fits exactly
 */
export function matchService(
  hints: readonly ServiceHint[],
  serviceMap: unknown,
  knows: (name: string) => boolean,
  serviceNames: () => Iterable<string> = () => [],
): AlertMatch {
  for (const hint of hints) {
    const { source } = hint;
    const mapped = mappedName(serviceMap, hint.name);
    if (mapped === undefined) {
      if (knows(hint.name))
        return { type: 'matched', serviceName: hint.name, source, via: 'name', exact: true };
      continue;
    }
    if (knows(mapped))
      return { type: 'matched', serviceName: mapped, source, via: 'service_map', exact: true };
    const alike = onlyOneAlike(mapped, serviceNames());
    if (alike !== undefined) {
      return { type: 'matched', serviceName: alike, source, via: 'service_map', exact: false };
    }
    const reason = `config.service_map maps ${source} ${quoted(hint.name)} to ${quoted(mapped)}: no such service`;
    return { type: 'unmatched', reason };
  }
  for (const { name, source } of hints) {
    const alike = onlyOneAlike(name, serviceNames());
    if (alike !== undefined)
      return { type: 'matched', serviceName: alike, source, via: 'name', exact: false };
  }
  return { type: 'unmatched', reason: unmatchedReason(hints) };
}

function mappedName(serviceMap: unknown, name: string): string | undefined {
  const mapped = member(serviceMap, name);
  const isName = typeof mapped === 'string' && mapped !== '' && mapped.length <= LIMITS.nameLength;
  return isName ? mapped : undefined;
}

function onlyOneAlike(name: string, serviceNames: Iterable<string>): string | undefined {
  const wanted = name.toLowerCase();
  let found: string | undefined;
  for (const candidate of serviceNames) {
    if (candidate.toLowerCase() !== wanted) continue;
    if (found !== undefined) return undefined;
    found = candidate;
  }
  return found;
}

function unmatchedReason(hints: readonly ServiceHint[]): string {
  if (hints.length === 0) return 'the alert names no service';
  const tried = hints.map(({ source, name }) => `${source} ${quoted(name)}`).join(', ');
  return `tried ${tried}: no such service; map one in config.service_map`;
}

function quoted(name: string): string {
  return `"${shortened(onOneLine(name), MAX_QUOTED_LENGTH)}"`;
}
