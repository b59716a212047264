/** A progress bar on a terminal's standard error; elsewhere nothing. */
import { Presets, SingleBar } from 'cli-progress';
import { errorIsTerminal } from './output.ts';

export interface Progress {
  readonly doneBytes: number;
  readonly totalBytes: number;
  /** Where commands are read. */
  readonly commands?: number;
}

export interface ProgressBar {
  readonly update: (progress: Progress) => void;
  readonly stop: () => void;
}

export function progressBar(title: string): ProgressBar {
  if (!errorIsTerminal()) return { update: () => {}, stop: () => {} };
  const format = `${title} {bar} {percentage} %  {note}`;
  const bar = new SingleBar({ format, clearOnComplete: true }, Presets.shades_classic);
  let started = false;
  return {
    update: ({ doneBytes, totalBytes, commands }) => {
      if (!started) bar.start(totalBytes, 0, { note: '' });
      started = true;
      bar.update(doneBytes, { note: commands === undefined ? '' : `${commands} commands` });
    },
    stop: () => {
      if (started) bar.stop();
    },
  };
}
