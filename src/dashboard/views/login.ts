/** Where the key is entered, once for this tab. */
import { storeKey } from '../api.ts';
import { h } from '../dom.ts';
import { copyButton } from '../parts.ts';
import type { View } from '../view.ts';

const COMMAND = 'npm run foreshock -- keys create --tenant default --kind read-only';

export function loginView(root: HTMLElement, problem: string, onKey: () => void): View {
  const key = h('input', {
    id: 'key',
    type: 'password',
    autocomplete: 'off',
    spellcheck: 'false',
    required: true,
    // Others cannot stand in a header.
    pattern: '\\s*[!-~]+\\s*',
    'aria-describedby': 'key-advice',
  });
  const submit = (event: Event) => {
    event.preventDefault();
    storeKey(key.value.trim());
    onKey();
  };
  root.append(
    h(
      'form',
      { class: 'login', submit },
      h('h1', {}, 'What changed?'),
      h('label', { for: 'key' }, 'Read-only key'),
      key,
      h('p', { id: 'key-advice' }, 'It begins with fsk_ro_, and stays in this tab until that is closed.'),
      problem !== '' && h('p', { class: 'problem', role: 'alert' }, problem),
      h('button', { type: 'submit' }, 'Sign in'),
      h('p', { class: 'facts' }, 'No key yet? Whoever runs the server makes one:'),
      h('pre', { tabindex: 0, 'aria-label': 'Command that makes a key' }, h('code', {}, COMMAND)),
      copyButton('Copy', () => COMMAND),
    ),
  );
  key.focus();
  return { title: () => 'Sign in', reads: [], update: () => {} };
}
