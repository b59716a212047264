/**
 * The API's description as a page to read: one document without scripts, made from the description alone. Renderers
 * that do more are megabytes of script; this needs a strict content security policy no exceptions.
 */
import { createHash } from 'node:crypto';
import type { OpenApiDocument } from './openapi.ts';
import { component, type Row, readOperations, type ShownOperation } from './reference-content.ts';

const STYLE = `
:root{color-scheme:light dark;--line:#8885;--soft:#8881;--accent:#b4451f}
*{box-sizing:border-box}
body{margin:0;font:16px/1.5 system-ui,sans-serif;display:grid;grid-template-columns:17rem minmax(0,1fr)}
nav{position:sticky;top:0;height:100vh;overflow:auto;padding:1.5rem 1rem;border-right:1px solid var(--line);font-size:.9rem}
nav ul{list-style:none;margin:.2rem 0 1rem;padding:0}
nav a{display:block;padding:.15rem 0;color:inherit;text-decoration:none}
nav a:hover,nav a:focus{text-decoration:underline}
main{padding:1.5rem 2.5rem 6rem;max-width:62rem}
h1{margin-top:0}
h2{margin-top:3rem;border-bottom:1px solid var(--line)}
h3{margin:2.5rem 0 .3rem}
h4{margin:1.2rem 0 .3rem}
code,pre{font:.85rem/1.45 ui-monospace,monospace}
pre{background:var(--soft);border:1px solid var(--line);border-radius:.3rem;padding:.7rem;overflow:auto;white-space:pre-wrap;overflow-wrap:anywhere}
.method{color:var(--accent);font-weight:700}
.path{overflow-wrap:anywhere}
table{border-collapse:collapse;width:100%;font-size:.9rem}
td,th{text-align:left;vertical-align:top;padding:.3rem .8rem .3rem 0;border-bottom:1px solid var(--line)}
a{color:var(--accent)}
summary{cursor:pointer}
@media(max-width:50rem){body{display:block}nav{position:static;height:auto;border:0}main{padding:1rem}}
`;

/** For the content security policy, which lets these styles pass and no others. */
export const STYLE_HASH = `sha256-${createHash('sha256').update(STYLE).digest('base64')}`;

export function referencePage(document: OpenApiDocument): string {
  const { title, version, description } = document.info;
  const operations = readOperations(document);
  const groups = document.tags.map((tag) => ({
    ...tag,
    operations: operations.filter((operation) => operation.tag === tag.name),
  }));
  const schemas = Object.keys(document.components['schemas'] ?? {});
  const nav = groups.map(
    ({ name, operations: own }) =>
      `<strong>${asHtml(name)}</strong><ul>${own.map((each) => `<li><a href="#${asHtml(each.id)}">${asHtml(each.summary)}</a>`).join('')}</ul>`,
  );
  const schemaNav = schemas.map((name) => `<li><a href="#schema-${asHtml(name)}">${asHtml(name)}</a>`);
  const sections = groups.map(
    (group) =>
      `<h2>${asHtml(group.name)}</h2><p>${asHtml(group.description)}</p>${group.operations.map(operationHtml).join('')}`,
  );
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${asHtml(title)} API ${asHtml(version)}</title><style>${STYLE}</style></head><body>
<nav aria-label="Contents">${nav.join('')}<strong>Schemas</strong><ul>${schemaNav.join('')}</ul></nav>
<main><h1>${asHtml(title)} API <small>${asHtml(version)}</small></h1>${paragraphs(description)}
<p>As a file for tools: <a href="/openapi.json">openapi.json</a>.</p>${sections.join('')}
<h2>Schemas</h2>${schemas.map((name) => schemaHtml(name, component(document, name))).join('')}</main></body></html>
`;
}

function operationHtml(operation: ShownOperation): string {
  const { id, method, path, summary, description, keys, parameters, bodies, answers } = operation;
  const parts = [
    `<section id="${asHtml(id)}"><h3>${asHtml(summary)}</h3>`,
    `<p><code><span class="method">${asHtml(method)}</span> <span class="path">${asHtml(path)}</span></code> · ${asHtml(keys)}</p>`,
    description === '' ? '' : paragraphs(description),
    parameters.length === 0 ? '' : `<h4>Parameters</h4>${tableHtml(parameters)}`,
    ...bodies.map(
      ({ mediaType, schema, example }) =>
        `<h4>Body, ${asHtml(mediaType)}${schemaLink(schema)}</h4><pre>${asHtml(example)}</pre>`,
    ),
    '<h4>Answers</h4>',
    ...answers.map(({ status, text, headers, contents }) => {
      const shown = contents.map(
        ({ mediaType, schema, example }) =>
          `<p>${asHtml(mediaType)}${schemaLink(schema)}</p><pre>${asHtml(example)}</pre>`,
      );
      const named = headers.length === 0 ? '' : `<p>Headers: ${asHtml(headers.join(', '))}</p>`;
      return `<details${status.startsWith('2') ? ' open' : ''}><summary><strong>${asHtml(status)}</strong> ${asHtml(text)}</summary>${named}${shown.join('')}</details>`;
    }),
    '</section>',
  ];
  return parts.join('');
}

function schemaHtml(name: string, { description, rows }: ReturnType<typeof component>): string {
  const table = rows.length === 0 ? '' : tableHtml(rows);
  return `<section id="schema-${asHtml(name)}"><h3>${asHtml(name)}</h3><p>${asHtml(description)}</p>${table}</section>`;
}

function tableHtml(rows: readonly Row[]): string {
  const lines = rows.map(
    ({ name, type, schema, note }) =>
      `<tr><td><code>${asHtml(name)}</code><td>${asHtml(type)}${schemaLink(schema)}<td>${asHtml(note)}`,
  );
  return `<table><tr><th>Name<th>Type<th>${lines.join('')}</table>`;
}

function schemaLink(name: string | undefined): string {
  return name === undefined ? '' : ` <a href="#schema-${asHtml(name)}">${asHtml(name)}</a>`;
}

/** Text with blank lines between paragraphs and `code` in backquotes. */
function paragraphs(text: string): string {
  return text
    .split('\n\n')
    .map((paragraph) => `<p>${asHtml(paragraph).replaceAll(/`([^`]+)`/g, '<code>$1</code>')}</p>`)
    .join('');
}

function asHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
