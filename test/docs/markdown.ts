/**
 * The fenced blocks of a Markdown file, and what is to be done with each.
 *
 * | block                                | what it is held to                                                      |
 * | ------------------------------------ | ----------------------------------------------------------------------- |
 * | `sh`                                 | run, in the order of the file, in one shell whose directory and         |
 * |                                      | variables stay; every command must succeed, and an HTTP error is none   |
 * | none or `json`, right after an `sh`  | what that printed: `…` in a line stands for anything, on a line of its  |
 * |                                      | own for any lines; ids, keys and times stand for any of their kind      |
 * | `json`, `yaml`                       | parsed                                                                  |
 * | `python`, `ts`                       | compiled, run                                                           |
 * | none, elsewhere                      | left alone: a drawing, or what something else says                      |
 * | any other                            | refused, but where it is saved as a file or skipped                     |
 *
 * Comments before a block, which no reader sees:
 *
 *     <!-- docs: skip: why nobody runs it -->
 *     <!-- docs: skip-line npm install: why that line is not run -->
 *     <!-- docs: until Foreshock listens -->     runs on behind the rest, until the file ends or it is stopped
 *     <!-- docs: fails -->                       it is to fail, and prints what follows all the same
 *     <!-- docs: needs python3 -->              is left out where that is not installed
 *     <!-- docs: file agent.py -->               is saved by that name first
 *     <!-- docs: stop -->                        stands alone: what was started last is stopped, as by Ctrl-C
 */

export type Directive =
  | { readonly type: 'skip'; readonly reason: string }
  | { readonly type: 'skip-line'; readonly line: string; readonly reason: string }
  | { readonly type: 'until'; readonly text: string }
  | { readonly type: 'fails' }
  | { readonly type: 'needs'; readonly program: string }
  | { readonly type: 'file'; readonly name: string };

export interface Block {
  readonly language: string;
  readonly text: string;
  /** Of its opening fence, from 1. */
  readonly line: number;
  readonly directives: readonly Directive[];
  /** Nothing stands between it and the `sh` block before it: it shows what that printed. */
  readonly isOutput: boolean;
}

const FENCE = /^( *)```(\w*)$/;
const COMMENT = /^ *<!-- docs: (.*) -->$/;

/** @throws where a fence is not closed, or a comment says what nobody understands */
export function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = [];
  let directives: Directive[] = [];
  let afterShell = false;
  const lines = markdown.split('\n');
  for (let index = 0; index < lines.length; index += 1) {
    const text = lines[index] ?? '';
    const fence = FENCE.exec(text);
    const comment = COMMENT.exec(text)?.[1];
    if (comment === 'stop') blocks.push(stopAt(index + 1));
    else if (comment !== undefined) directives.push(directiveOf(comment, index + 1));
    else if (fence !== null) {
      const [, indent = '', language = ''] = fence;
      const end = lines.indexOf(`${indent}\`\`\``, index + 1);
      if (end === -1) throw new Error(`line ${index + 1}: the block is not closed`);
      const inner = lines.slice(index + 1, end).map((line) => line.slice(indent.length));
      const isOutput = afterShell && (language === '' || language === 'json');
      blocks.push({ language, text: inner.join('\n'), line: index + 1, directives, isOutput });
      directives = [];
      afterShell = language === 'sh';
      index = end;
    } else if (text.trim() !== '') {
      if (directives.length > 0) throw new Error(`line ${index + 1}: a comment stands before no block`);
      afterShell = false;
    }
  }
  return blocks;
}

/** A place at which what runs on is stopped: a block without text. */
function stopAt(line: number): Block {
  return { language: 'stop', text: '', line, directives: [], isOutput: false };
}

function directiveOf(text: string, line: number): Directive {
  const [, word = '', rest = ''] = /^([\w-]+):? ?(.*)$/.exec(text) ?? [];
  if (word === 'fails') return { type: word };
  if (word === 'skip' && rest !== '') return { type: word, reason: rest };
  if (word === 'needs' && rest !== '') return { type: word, program: rest };
  if (word === 'until' && rest !== '') return { type: word, text: rest };
  if (word === 'file' && /^[\w.-]+$/.test(rest)) return { type: word, name: rest };
  const [, skipped = '', reason = ''] = /^([^:]+): (.+)$/.exec(rest) ?? [];
  if (word === 'skip-line' && reason !== '') return { type: word, line: skipped, reason };
  throw new Error(`line ${line}: nobody understands "docs: ${text}"`);
}
