/** What stands at the lines of alerts: a title where there is room, a number where several are close together. */
import type { Alert } from '../model.ts';
import { isolated } from './change-text.ts';

export const FLAG_CHARACTER = 6.2;
const LONGEST_FLAG = 28;
/** Lines of alerts that are closer have one text. */
const FLAG_GAP = 24;

export interface Flag {
  readonly alerts: readonly [Alert, ...Alert[]];
  readonly x: number;
  /** As far as its text may go. */
  room: number;
}

/** Lines that stand close together have one text. */
export function flagsOf(
  alerts: readonly Alert[],
  xOf: (ms: number) => number,
  width: number,
): readonly Flag[] {
  const flags: Flag[] = [];
  const inOrder = alerts
    .map((alert) => ({ alert, x: xOf(Date.parse(alert.started_at)) }))
    .sort((a, b) => a.x - b.x);
  for (const { alert, x } of inOrder) {
    const last = flags.at(-1);
    if (last !== undefined && x - last.x < FLAG_GAP) {
      flags[flags.length - 1] = { ...last, alerts: [...last.alerts, alert] };
    } else flags.push({ alerts: [alert], x, room: 0 });
  }
  for (const [index, flag] of flags.entries()) {
    const right = (flags[index + 1]?.x ?? width) - flag.x;
    const left = flag.x - (flags[index - 1]?.x ?? 0);
    // Before the line where there is no room after it.
    flag.room = right < 3 * FLAG_GAP && left > right ? -left : right;
  }
  return flags;
}

export function flagText({ alerts, room }: Flag): string {
  const [{ title, status }] = alerts;
  const most = Math.min(LONGEST_FLAG, Math.floor((Math.abs(room) - 10) / FLAG_CHARACTER));
  if (most < 1) return '';
  if (alerts.length > 1) return most < 9 ? String(alerts.length) : `${alerts.length} alerts`;
  const said = status === 'firing' ? title : `${title} (resolved)`;
  const characters = [...said];
  if (characters.length <= most) return isolated(said);
  if (most < 5) return '';
  return most < 8 ? 'alert' : `${isolated(characters.slice(0, most - 1).join(''))}…`;
}
