import { configVariables } from '../../shared/config.ts';
import { code, table } from './markdown.ts';

const INTRODUCTION = `# Configuration

The service reads these environment variables once, at its start. An empty variable counts as unset.
An invalid environment stops the start, with every problem in one message.

\`identity serve\` gets the database from \`--data\` or \`--firestore\`, and the other variables from here.
In Google Cloud, Terraform sets the variables: see [operations.md](operations.md).`;

/** Writes `docs/configuration.md` from the variables that the configuration reads. */
export function configurationDocument(): string {
  const rows = configVariables.map(({ name, meaning, default: fallback }) => [code(name), meaning, fallback]);
  return `${INTRODUCTION}\n\n${table(['variable', 'meaning', 'default'], rows)}`;
}
