/**
 * Whether an event happened to a resource that the alert names, in its entities or as a whole word of its title.
 * A pod and the workload that it is of are one; two pods of a workload are not. What is called like the alert's
 * service never counts: it tells nothing that the service does not.
 */

const PORT = /:\d{1,5}$/;
/**
 * What Kubernetes puts behind a workload's name: `-<hash>-<suffix>` for a pod of a Deployment, `-<ordinal>` for
 * one of a StatefulSet. Its random letters leave out vowels, so that no word comes about, or is taken for one.
 */
const POD_SUFFIX = /-(?:[0-9b-df-hj-np-tv-xz]{5,10}-[0-9b-df-hj-np-tv-xz]{5}|\d{1,4})$/;
/** Shorter words of a title are too common to be names. */
const MIN_LENGTH_IN_TITLE = 4;
const PART_OF_A_WORD = /[\p{L}\p{N}_-]/u;

export interface Named {
  readonly serviceName: string;
  readonly entities: readonly string[];
  readonly title: string;
}

export function sameEntityTest({ serviceName, entities, title }: Named): (entity: string) => boolean {
  const service = serviceName.toLowerCase();
  const names = new Set(entities.map(nameOf));
  const workloads = new Set([...names].map(workloadOf));
  names.delete(service);
  workloads.delete(service);
  const lowerTitle = title.toLowerCase();
  const isNamed = (name: string): boolean =>
    names.has(name) ||
    names.has(workloadOf(name)) ||
    workloads.has(name) ||
    (name !== service && isWordOf(lowerTitle, name));

  const answers = new Map<string, boolean>();
  return (entity) => {
    const known = answers.get(entity);
    if (known !== undefined) return known;
    const answer = isNamed(nameOf(entity));
    answers.set(entity, answer);
    return answer;
  };
}

function nameOf(entity: string): string {
  return entity.trim().toLowerCase().replace(PORT, '');
}

function workloadOf(name: string): string {
  return name.replace(POD_SUFFIX, '');
}

function isWordOf(title: string, name: string): boolean {
  if (name.length < MIN_LENGTH_IN_TITLE) return false;
  for (let at = title.indexOf(name); at !== -1; at = title.indexOf(name, at + 1)) {
    const before = title[at - 1] ?? ' ';
    const after = title[at + name.length] ?? ' ';
    if (!PART_OF_A_WORD.test(before) && !PART_OF_A_WORD.test(after)) return true;
  }
  return false;
}
