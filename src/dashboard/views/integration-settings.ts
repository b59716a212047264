/** What an integration is told: credentials, addresses, and which names stand for which services. */
import { h, setText } from '../dom.ts';
import type { Integration, IntegrationConfig } from '../model.ts';

interface Setting {
  readonly key: keyof IntegrationConfig & string;
  readonly label: string;
  readonly advice: string;
  readonly type: 'text' | 'password' | 'number' | 'map';
}

const SETTINGS: Readonly<Record<string, readonly Setting[]>> = {
  pagerduty: [
    {
      key: 'pagerduty_token',
      label: 'REST API key',
      advice: 'What changed is posted to incidents with it.',
      type: 'password',
    },
    {
      key: 'pagerduty_from',
      label: 'From',
      advice: 'Login address of the user that it is posted as.',
      type: 'text',
    },
    {
      key: 'pagerduty_routing_key',
      label: 'Routing key',
      advice: 'Deploys and flag changes are sent there as change events.',
      type: 'password',
    },
    {
      key: 'pagerduty_webhook_secret',
      label: 'Webhook secret',
      advice: 'Deliveries must be signed with it then.',
      type: 'password',
    },
  ],
  alertmanager: [
    {
      key: 'alertmanager_url',
      label: 'Alertmanager URL',
      advice: 'Agents that fall silent are raised there.',
      type: 'text',
    },
  ],
};
const OF_ALL: readonly Setting[] = [
  {
    key: 'lookback_seconds',
    label: 'Look back, seconds',
    advice: 'How long before an alert its causes are looked for: an hour where nothing is said.',
    type: 'number',
  },
  {
    key: 'service_map',
    label: 'Services',
    advice: 'A line each, where a name in alerts is not the service’s: “Checkout (prod) = checkout-api”.',
    type: 'map',
  },
];

/** Whether it has been told all that it needs to send anything. */
export function isSending({ type, direction, config }: Integration): boolean {
  if (direction === 'inbound') return false;
  if (type === 'alertmanager') return config.alertmanager_url !== undefined;
  return config.pagerduty_token !== undefined || config.pagerduty_routing_key !== undefined;
}

/**
 * @param known the integration as it is known at a time
 * @param save sends the whole config, and says in a place what is wrong with it; answers whether it was taken
 */
export function settingsForm(
  known: () => Integration,
  save: (config: IntegrationConfig, place: HTMLElement) => Promise<boolean>,
): HTMLElement {
  const { type, config } = known();
  const fields = [...(SETTINGS[type] ?? []), ...OF_ALL].map((setting) => fieldOf(setting, config));
  const said = h('span', { class: 'facts', role: 'status' });
  const failure = h('p', { class: 'problem', role: 'alert' });
  const button = h('button', { type: 'submit' }, 'Save');
  const submit = async (event: Event) => {
    event.preventDefault();
    // What we do not know of is the tenant's own, and stays.
    const next: Record<string, unknown> = { ...known().config };
    // And what was not touched here may have been changed elsewhere.
    for (const { setting, read } of fields.filter((field) => field.isTouched())) {
      const value = read();
      if (value === undefined) delete next[setting.key];
      else next[setting.key] = value;
    }
    setText(said, 'Saving…');
    button.disabled = true;
    const isSaved = await save(next, failure);
    if (isSaved) for (const field of fields) field.saved();
    button.disabled = false;
    setText(said, isSaved ? 'Saved' : '');
  };
  return h(
    'form',
    { class: 'settings', submit },
    ...fields.map(({ row }) => row),
    h('div', { class: 'tools' }, button, said, failure),
  );
}

let lastField = 0;

function fieldOf(setting: Setting, config: IntegrationConfig) {
  const { key, label, advice, type } = setting;
  lastField += 1;
  const id = `setting-${lastField}`;
  const common = { id, 'aria-describedby': `${id}-advice`, autocomplete: 'off', spellcheck: 'false' };
  const value = config[key];
  const input = type === 'map' ? h('textarea', { ...common, rows: 3 }) : h('input', { ...common, type });
  input.value = type === 'map' ? linesOf(value) : value === undefined ? '' : String(value);
  const row = h(
    'div',
    {},
    h('label', { for: id }, label),
    input,
    h('p', { id: `${id}-advice`, class: 'facts' }, advice),
  );
  input.addEventListener('input', () => {
    input.setCustomValidity(type === 'map' ? problemOf(input.value) : '');
  });
  const read = (): unknown => {
    const text = input.value.trim();
    if (text === '') return undefined;
    return type === 'number' ? Number(text) : type === 'map' ? mapIn(text) : text;
  };
  let filled = input.value;
  const isTouched = () => input.value !== filled;
  const saved = () => {
    filled = input.value;
  };
  return { setting, row, read, isTouched, saved };
}

function linesOf(map: unknown): string {
  if (typeof map !== 'object' || map === null) return '';
  return Object.entries(map)
    .map(([name, service]) => `${name} = ${String(service)}`)
    .join('\n');
}

/** The last `=` of a line parts it: names in alerts are freer than those of services. */
function pairsIn(text: string): readonly (readonly [name: string, service: string])[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const at = line.lastIndexOf('=');
      return at < 0 ? [line.trim(), ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    });
}

function mapIn(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(pairsIn(text));
}

/** Which line cannot be taken; empty where all can. */
function problemOf(text: string): string {
  const names = new Set<string>();
  for (const [name, service] of pairsIn(text)) {
    if (name === '' || service === '') return `“${name}” needs a name, an equals sign and a service`;
    if (names.has(name)) return `“${name}” stands there twice`;
    names.add(name);
  }
  return '';
}
