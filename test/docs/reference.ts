/** src/docs/reference.md, made from the program, its metrics, alert rules and limits. `npm run docs` writes it. */
import type { Command, Option } from 'commander';
import { parse } from 'yaml';
import { z } from 'zod';
import { everyCommand, foreshockProgram } from '../../src/cli/program.ts';
import { LIMITS } from '../../src/domain/limits.ts';
import { REJECTION_KINDS } from '../../src/domain/rejection.ts';
import { REASONS, STATUS_OF } from '../../src/http/responses.ts';
import { expositionOf } from '../../src/metrics/exposition.ts';
import { certificateFamily } from '../../src/metrics/metrics.ts';
import { helpOf, nameOf } from '../support/help.ts';

const LIMIT_TEXTS: { readonly [L in keyof typeof LIMITS]: string } = {
  nameLength: 'characters of `service_name`, `vendor`, `entity`, `actor`, `hostname`, `name`, `version`',
  shaLength: 'characters of `sha`',
  valueLength: 'characters of `old_value`, `new_value`, and of a secret in a config',
  rawLineLength: 'characters of `raw_line`',
  ttlSeconds: 'seconds of `ttl_seconds`: ten years',
  jsonDepth: 'levels of JSON',
  batchEvents: 'events of a batch',
  configBytes: 'bytes of the `config` of an integration',
  toolDeliveryIdLength: "characters of a delivery's id that are told apart",
};

const alertRulesSchema = z.object({
  groups: z.array(
    z.object({
      rules: z.array(
        z.object({
          alert: z.string(),
          for: z.string().default('at once'),
          labels: z.object({ severity: z.string() }),
          annotations: z.object({ summary: z.string(), description: z.string() }),
        }),
      ),
    }),
  ),
});

/**
 * @param metrics what GET /metrics answers
 * @param alertRules of Prometheus, as YAML
 */
export function referenceOf(metrics: string, alertRules: string): string {
  // No version of its own: a release must not make the file out of date.
  const commands = everyCommand(foreshockProgram('')).filter((command) => command.commands.length === 0);
  return [
    '# Reference',
    '<!-- Made from the code by `npm run docs`; test/docs holds it to it. -->',
    'Every command, flag, metric and limit. [The operator’s guide](operators-guide.md) says what to do with them.',
    '## Commands',
    'Exit codes: 0 done, 1 failed (the reason is on standard error), 2 wrong usage. What a flag says goes before its ' +
      'variable, the variable before the default.',
    ...commands.flatMap(commandText),
    '## Metrics',
    '`GET /metrics`, in the Prometheus text format.',
    // This one is of servers with TLS alone.
    table(
      ['metric', 'type', 'labels', 'what it says'],
      metricRows(metrics + expositionOf([certificateFamily(0)])),
    ),
    '## Alert rules',
    '`src/operations/alerts.yaml`, for Prometheus. In braces stands what it fills in.',
    table(['alert', 'after', 'severity', 'says', 'and'], alertRows(alertRules)),
    '## Limits',
    'These are fixed; those with a flag stand under `foreshock serve`.',
    table(
      ['at most', 'of'],
      Object.entries(LIMIT_TEXTS).map(([name, text]) => [String(Object(LIMITS)[name]), text]),
    ),
    '## Refusals',
    'The reasons in `foreshock_rejections_total`, and the status a caller gets.',
    table(
      ['reason', 'status'],
      REJECTION_KINDS.map((kind) => [`\`${kind}\``, `${STATUS_OF[kind]} ${REASONS[STATUS_OF[kind]]}`]),
    ),
  ]
    .join('\n\n')
    .concat('\n');
}

function commandText(command: Command): string[] {
  const parts = [`### ${nameOf(command)}`, `${sentence(command.description())}`];
  const { registeredArguments: places } = command;
  const usage = [nameOf(command), ...places.map((place) => `<${place.name()}>`), '[flags]'].join(' ');
  parts.push(`\`${usage}\``);
  if (places.length > 0) {
    parts.push(
      table(
        ['argument', ''],
        places.map((place) => [`\`<${place.name()}>\``, place.description]),
      ),
    );
  }
  parts.push(table(['flag', 'variable', 'default', ''], command.options.map(flagRow)));
  const [, examples] = /\nExamples?:\n((?: {2}.*\n)+)/.exec(helpOf(command)) ?? [];
  if (examples !== undefined) parts.push(`\`\`\`\n${examples.replaceAll(/^ {2}/gm, '').trimEnd()}\n\`\`\``);
  return parts;
}

function flagRow(option: Option): string[] {
  const { flags, envVar, description, argChoices, mandatory } = option;
  const choices =
    argChoices === undefined ? '' : ` (${argChoices.map((choice) => `\`${choice}\``).join(', ')})`;
  return [
    `\`${flags}\``,
    envVar === undefined ? '' : `\`${envVar}\``,
    mandatory ? 'required' : defaultOf(option),
    description + choices,
  ];
}

function defaultOf({ defaultValue, defaultValueDescription }: Option): string {
  if (defaultValueDescription !== undefined) return defaultValueDescription;
  return defaultValue === undefined ? '' : `\`${String(defaultValue)}\``;
}

function metricRows(metrics: string): string[][] {
  return [...metrics.matchAll(/^# HELP (\w+) (.*)\n# TYPE \w+ (\w+)$/gm)].map(
    ([, name = '', help = '', type = '']) => {
      const samples = metrics.matchAll(new RegExp(`^${name}(?:_bucket)?\\{(.*)\\}`, 'gm'));
      const labels = new Set<string>();
      for (const [, pairs = ''] of samples) {
        for (const [, label = ''] of pairs.matchAll(/(\w+)="/g)) if (label !== 'le') labels.add(label);
      }
      return [`\`${name}\``, type, [...labels].map((label) => `\`${label}\``).join(', '), help];
    },
  );
}

function alertRows(rules: string): string[][] {
  return alertRulesSchema
    .parse(parse(rules))
    .groups.flatMap(({ rules }) =>
      rules.map(({ alert, for: after, labels, annotations }) => [
        `\`${alert}\``,
        after,
        labels.severity,
        annotations.summary,
        annotations.description,
      ]),
    );
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`;
}
