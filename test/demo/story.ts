/** What happens in the demonstration: an hour that has passed, told within seconds, and what goes wrong while you look. */
import { everyday, PAST_STORY, SERVICES, STORIES, type Story } from './fleet.ts';
import type { Demo } from './server.ts';

const MINUTE_MS = 60_000;
export const PAST_MS = 62 * MINUTE_MS;
const EVERYDAY_EACH_MS = 20_000;
/** What a story's events are apart, and its alert from the last. */
const STEP_MS = 2 * MINUTE_MS;

interface Happening {
  /** Before the present. */
  readonly agoMs: number;
  readonly happens: (demo: Demo) => Promise<void>;
}

/** @param firing stories whose alerts fire already at the end of it */
export async function past(demo: Demo, firing: readonly Story[]): Promise<void> {
  const happenings: Happening[] = [];
  const first = PAST_MS - MINUTE_MS;
  for (let agoMs = first; agoMs > EVERYDAY_EACH_MS; agoMs -= EVERYDAY_EACH_MS) {
    const index = Math.round((first - agoMs) / EVERYDAY_EACH_MS);
    // All of them are there from the start.
    const event = index < SERVICES.length ? everyday(SERVICES[index]) : everyday();
    happenings.push({ agoMs, happens: (at) => at.report(event) });
  }
  const tell = (story: Story, firedAgoMs: number) => {
    for (const [index, event] of story.events.entries()) {
      const agoMs = firedAgoMs + (story.events.length - index) * STEP_MS - MINUTE_MS;
      happenings.push({ agoMs, happens: (at) => at.report(event) });
    }
    happenings.push({ agoMs: firedAgoMs, happens: (at) => at.raise(story) });
  };
  tell(PAST_STORY, 41 * MINUTE_MS);
  happenings.push({ agoMs: 22 * MINUTE_MS, happens: (at) => at.resolve(PAST_STORY) });
  for (const [index, story] of firing.entries()) tell(story, (4 + 5 * index) * MINUTE_MS);
  happenings.sort((a, b) => b.agoMs - a.agoMs);
  for (const { agoMs, happens } of happenings) {
    // Time only goes on.
    demo.clock.behindMs = Math.min(demo.clock.behindMs, agoMs);
    await happens(demo);
  }
  demo.clock.behindMs = 0;
  await demo.heartbeat();
}

const EVERYDAY_MS = 1500;
const HEARTBEAT_MS = 20_000;
const STORY_AFTER_MS = 5000;
const STORY_EVERY_MS = 8000;
const LIVE_STEP_MS = 2000;

const wait = (milliseconds: number) => new Promise((done) => setTimeout(done, milliseconds));

/** Does not end but with the process. */
export async function present(demo: Demo): Promise<void> {
  const ignore = () => {};
  setInterval(() => demo.report(everyday()).catch(ignore), EVERYDAY_MS);
  setInterval(() => demo.heartbeat().catch(ignore), HEARTBEAT_MS);
  await wait(STORY_AFTER_MS);
  for (const story of STORIES) {
    for (const event of story.events) {
      await demo.report(event);
      await wait(LIVE_STEP_MS);
    }
    await demo.raise(story);
    await wait(STORY_EVERY_MS);
  }
}
