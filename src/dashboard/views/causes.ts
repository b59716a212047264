/** The causes of an alert, as far as they are known. */
import { h } from '../dom.ts';
import type { Alert } from '../model.ts';
import { sentence } from '../parts.ts';
import { addressOf, type Page } from '../view.ts';
import { candidateList } from './candidates.ts';

/** The candidates of an alert; or that there are none, or that nobody knows yet. */
export function causesOf(
  { store, needs }: Page,
  alert: Alert,
  onChoose?: (index: number) => void,
): HTMLElement {
  const { candidates } = alert;
  if (candidates === undefined) {
    const load = needs.load('alert', alert.id);
    const said = load?.state === 'failed' ? sentence(`it could not be loaded: ${load.detail}`) : 'Loading…';
    return h('p', { class: 'facts' }, said);
  }
  if (candidates.length === 0) {
    return h('p', { class: 'facts' }, 'Nothing is known to have changed before it.');
  }
  const addressOfService = (name: string) => {
    const service = store.all('services').find((each) => each.name === name);
    return service && addressOf(['services', service.id], { alert: alert.id });
  };
  return candidateList(candidates, {
    service: alert.service,
    addressOfService,
    ...(onChoose !== undefined && { onChoose }),
  });
}
