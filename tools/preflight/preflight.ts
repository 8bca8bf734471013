import type { Ended } from '../program.ts';
import { type PolicyCheck, policyChecks } from './policies.ts';
import { readRules } from './rules.ts';

/** Runs `gcloud` with these arguments. */
export type Gcloud = (args: readonly string[]) => Promise<Ended>;

/** A policy that is in the way. */
export type Obstacle = Pick<PolicyCheck, 'constraint' | 'forbids' | 'remedy'>;

/**
 * Finds the organisation policies in effect on a project that forbid what an instance needs.
 * @throws Error with gcloud's own message, where a policy cannot be read
 */
export async function findObstacles(project: string, gcloud: Gcloud): Promise<readonly Obstacle[]> {
  const found: Obstacle[] = [];
  for (const { constraint, isInTheWay, forbids, remedy } of policyChecks) {
    const args = ['org-policies', 'describe', constraint, '--effective', '--format=json', `--project=${project}`];
    const { code, stdout, stderr } = await gcloud(args);
    if (code !== 0) throw new Error(`gcloud ${args.join(' ')} failed: ${stderr.trim()}`);
    if (isInTheWay(readRules(stdout))) found.push({ constraint, forbids, remedy });
  }
  return found;
}

/** Renders the report: a line for each obstacle, or that there is none. */
export function renderObstacles(project: string, obstacles: readonly Obstacle[]): string {
  if (obstacles.length === 0) return `none of ${policyChecks.length} policies is in the way in ${project}\n`;
  const lines = obstacles.map(({ constraint, forbids, remedy }) => `${constraint} forbids ${forbids}:\n  ${remedy}\n`);
  return lines.join('').replaceAll('`', '');
}
