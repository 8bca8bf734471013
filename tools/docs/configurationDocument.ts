import { configVariables } from '../../shared/config.ts';
import { limitDefinitions, printLimit } from '../../shared/limits.ts';
import { code, table } from './markdown.ts';

const INTRODUCTION = `# Configuration

The service reads these environment variables once, at its start. An empty variable counts as unset.
\`identity serve\` gets the database from \`--data\` or \`--firestore\`. In Google Cloud, [Terraform](../terraform/README.md) sets the variables.`;

const LIMITS = `## Limits

Limits with a variable can be set.`;

/** Writes `docs/configuration.md` from the variables that the configuration reads. */
export function configurationDocument(): string {
  const rows = configVariables.map(({ name, meaning, default: fallback }) => [code(name), meaning, fallback]);
  const variables = table(['variable', 'meaning', 'default'], rows);
  return `${INTRODUCTION}\n\n${variables}\n\n${LIMITS}\n\n${limitsTable()}`;
}

function limitsTable(): string {
  const rows = limitDefinitions.map((limit) => [
    limit.text,
    limit.variable === undefined ? '' : code(limit.variable),
    printLimit(limit, limit.selfHosted),
    printLimit(limit, limit.cloud),
  ]);
  return table(['limit of', 'variable', 'self-hosted', 'in the cloud'], rows);
}
