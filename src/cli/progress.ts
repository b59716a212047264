/** A progress bar on a terminal's standard error; elsewhere nothing. */
import { Presets, SingleBar } from 'cli-progress';
import type { ReplayProgress } from '../log/replay.ts';
import { errorIsTerminal } from './output.ts';

export interface ProgressBar {
  readonly update: (progress: ReplayProgress) => void;
  readonly stop: () => void;
}

export function progressBar(title: string): ProgressBar {
  if (!errorIsTerminal()) return { update: () => {}, stop: () => {} };
  const format = `${title} {bar} {percentage} %  {commands} commands`;
  const bar = new SingleBar({ format, clearOnComplete: true }, Presets.shades_classic);
  let started = false;
  return {
    update: ({ doneBytes, totalBytes, commands }) => {
      if (!started) bar.start(totalBytes, 0, { commands: 0 });
      started = true;
      bar.update(doneBytes, { commands });
    },
    stop: () => {
      if (started) bar.stop();
    },
  };
}
