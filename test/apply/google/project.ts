import { createHash } from 'node:crypto';
import { denied, notFound } from './apiError.ts';
import type { Fields } from './json.ts';

/** A binding of an IAM policy. */
export interface Binding {
  readonly role: string;
  readonly members: readonly string[];
  readonly condition?: Fields;
}

/** An IAM policy. */
export interface Policy {
  readonly version: number;
  readonly etag: string;
  readonly bindings: readonly Binding[];
  readonly auditConfigs?: readonly unknown[];
}

export const PROJECT = 'acme-identity';
export const NUMBER = '123456789012';

/** Services that a project has enabled from its creation, and those that docs/deploying.md enables by hand. */
const enabledAtFirst = ['cloudresourcemanager', 'logging', 'monitoring', 'secretmanager', 'serviceusage', 'storage'];

/** What a project of Google Cloud holds. Resources are by service and full name, such as `firestore/projects/P/databases/D`. */
export class Project {
  readonly resources = new Map<string, Fields>();
  readonly policies = new Map<string, Policy>();
  readonly #answersAt = new Map<string, number>(enabledAtFirst.map((service) => [service, 0]));
  readonly #grantedAt = new Map<string, number>();
  readonly #propagationMs: number;
  #count = 1000;

  /** @param propagationMs how long an enabled service does not answer, and a granted role has no effect */
  constructor(propagationMs: number) {
    this.#propagationMs = propagationMs;
  }

  get enabledServices(): readonly string[] {
    return [...this.#answersAt.keys()];
  }

  enable(service: string): void {
    if (!this.#answersAt.has(service)) this.#answersAt.set(service, Date.now() + this.#propagationMs);
  }

  answers(service: string): boolean {
    return (this.#answersAt.get(service) ?? Number.POSITIVE_INFINITY) <= Date.now();
  }

  /** Returns the resource; throws if it does not exist. */
  held(key: string): Fields {
    const resource = this.resources.get(key);
    if (resource === undefined) throw notFound(key.slice(key.indexOf('/') + 1));
    return resource;
  }

  put(key: string, resource: Fields): Fields {
    this.resources.set(key, resource);
    return resource;
  }

  /** Adds a secret, by default with two versions. */
  addSecret(id: string, versions: readonly string[] = ['1', '2']): void {
    const name = `projects/${PROJECT}/secrets/${id}`;
    this.put(`secretmanager/${name}`, { name });
    for (const version of versions) {
      const metadata = { name: byNumber(`${name}/versions/${version}`), createTime: now(), state: 'ENABLED' };
      this.put(`secretmanager/${name}/versions/${version}`, metadata);
    }
  }

  /** Returns a function that restores the current resources and policies. */
  snapshot(): () => void {
    const maps: readonly Map<string, unknown>[] = [this.resources, this.policies];
    const copies = maps.map((map) => new Map(map));
    return () => {
      for (const [index, map] of maps.entries()) {
        map.clear();
        for (const [key, value] of copies[index] ?? []) map.set(key, value);
      }
    };
  }

  grant(key: string, binding: Binding): void {
    for (const member of binding.members) {
      const grant = grantOf(key, binding, member);
      if (!this.#grantedAt.has(grant)) this.#grantedAt.set(grant, Date.now());
    }
  }

  /** Throws unless one of the policies has given the member the role long enough ago, on that resource. */
  checkRole(member: string, role: string, keys: readonly string[], resource = ''): void {
    const holds = keys.some((key) =>
      this.policies.get(key)?.bindings.some((binding) => {
        const at = this.#grantedAt.get(grantOf(key, binding, member)) ?? Number.POSITIVE_INFINITY;
        const applies = binding.role === role && binding.members.includes(member) && admits(binding, resource);
        return applies && at + this.#propagationMs <= Date.now();
      }),
    );
    if (!holds) throw denied(`${member} does not have ${role} on ${keys.join(', ')}`);
  }

  /** Returns a number that no other resource has. */
  nextNumber(): number {
    this.#count += 1;
    return this.#count;
  }
}

const grantOf = (key: string, { role, condition }: Binding, member: string) =>
  JSON.stringify([key, role, member, condition?.expression]);

/** Whether the condition of a binding, of which only a prefix of the resource's name is understood, admits a resource. */
function admits({ condition }: Binding, resource: string): boolean {
  if (condition === undefined) return true;
  const [, prefix] = /^resource\.name\.startsWith\("(.+)"\)$/.exec(String(condition.expression)) ?? [];
  return prefix !== undefined && resource.startsWith(prefix);
}

/** Returns a name with the project's number in place of its id, as some services write names. */
export const byNumber = (name: string) => name.replace(`projects/${PROJECT}/`, `projects/${NUMBER}/`);

/** Returns a name with the project's id in place of its number. */
export const byId = (name: string) => name.replace(`projects/${NUMBER}/`, `projects/${PROJECT}/`);

/** Returns a short digest of a value, for etags and fingerprints. */
export function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64').slice(0, 16);
}

export const now = () => new Date().toISOString();
