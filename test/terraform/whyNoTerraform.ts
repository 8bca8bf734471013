import { spawnSync } from 'node:child_process';

/** Why the configuration cannot be checked on this machine; `undefined` where it can. */
export function whyNoTerraform(): string | undefined {
  const { stdout, status } = spawnSync('terraform', ['version'], { encoding: 'utf8' });
  if (status !== 0) return 'terraform is not installed';
  const [, major, minor] = /^Terraform v(\d+)\.(\d+)/.exec(stdout) ?? [];
  const isRecent = Number(major) === 1 && Number(minor) >= 11;
  return isRecent ? undefined : `terraform 1.11 or a later 1.x is needed, and this is ${stdout.split('\n')[0]}`;
}
