import { run } from '../../tools/program.ts';
import { whyNoTerraform } from '../terraform/whyNoTerraform.ts';
import { initialised } from './terraform.ts';

/** Ends the run with the reason if Terraform or the real provider is missing: skipped applies would prove nothing. */
export default async function requireProvider(): Promise<void> {
  const reason = whyNoTerraform() ?? (await whyNoProvider());
  if (reason !== undefined) throw new Error(`No test was run: ${reason}.`);
}

async function whyNoProvider(): Promise<string | undefined> {
  await using copy = await initialised();
  if (copy.failure !== undefined)
    return `Terraform finds no provider, see test/apply/README.md, "The provider": ${copy.failure}`;
  const { stdout } = await run('terraform', [`-chdir=${copy.directory}`, 'providers', 'schema', '-json']);
  return stdout.includes('google_cloudfunctions2_function')
    ? undefined
    : 'the provider has no google_cloudfunctions2_function';
}
