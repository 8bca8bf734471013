import { configVariables } from '../../shared/config.ts';
import type { LimitDefinition } from '../../shared/limitDefinition.ts';
import { limitDefinitions, printLimit } from '../../shared/limits.ts';
import { code, table } from './markdown.ts';

const INTRODUCTION = `# Configuration

The service reads these environment variables once, at its start. An empty variable counts as unset.
\`identity serve\` gets the database from \`--data\` or \`--firestore\`. In Google Cloud, [Terraform](../terraform/README.md) sets the variables.`;

const FIXED_LIMITS =
  'Terraform sets lower limits for [the size of responses and the time of calls](operations-google-cloud.md#limits). The following limits cannot be changed:';

export function configurationDocument(): string {
  const rows = configVariables.map(({ name, meaning, default: fallback }) => [code(name), meaning, fallback]);
  const variables = table(['variable', 'meaning', 'default'], rows);
  return [INTRODUCTION, variables, '## Limits', variableLimits(), FIXED_LIMITS, fixedLimits()].join('\n\n');
}

function variableLimits(): string {
  const rows = limitDefinitions.flatMap((limit) => {
    const { variable, text, selfHosted, cloud } = limit;
    return variable === undefined
      ? []
      : [[code(variable), text, printLimit(limit, selfHosted), printLimit(limit, cloud)]];
  });
  return table(['variable', 'limit of', 'self-hosted', 'in the cloud'], rows);
}

function fixedLimits(): string {
  const rows = limitDefinitions
    .filter(({ variable }) => variable === undefined)
    .map((limit) => [limit.text, printBoth(limit)]);
  return table(['limit of', 'value'], rows);
}

function printBoth(limit: LimitDefinition): string {
  const [selfHosted, cloud] = [printLimit(limit, limit.selfHosted), printLimit(limit, limit.cloud)];
  return selfHosted === cloud ? cloud : `${selfHosted}; in the cloud ${cloud}`;
}
