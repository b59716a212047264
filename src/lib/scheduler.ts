/** Doing something later, as a value that is handed in: the event loop in production, a simulation in tests. */

export interface Scheduler {
  /** Runs `task` after about `delayMs`; the answer cancels it. Never keeps the process alive. */
  after(delayMs: number, task: () => void): () => void;
  /** Runs `task` once the input at hand has been handled. */
  soon(task: () => void): void;
}

export const eventLoop: Scheduler = {
  after: (delayMs, task) => {
    const timer = setTimeout(task, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
  soon: (task) => {
    setImmediate(task);
  },
};
