import { existsSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

const JAR = 'platform/cloud-firestore-emulator/cloud-firestore-emulator.jar';

/** The official Firestore emulator of this machine and the Java to run it with, or why there is none. */
export type FoundEmulator = { readonly java: string; readonly jar: string } | { readonly missing: string };

/** Looks for the emulator in the Google Cloud SDK and for Java. */
export function findEmulator(): FoundEmulator {
  const jar = sdkRoots()
    .map((root) => join(root, JAR))
    .find((file) => existsSync(file));
  if (jar === undefined) {
    return { missing: 'the Google Cloud SDK with its component cloud-firestore-emulator is not installed' };
  }
  const java = ofJavaHome() ?? onPath('java');
  return java === undefined ? { missing: 'Java is not installed' } : { java, jar };
}

function sdkRoots(): string[] {
  const { CLOUDSDK_ROOT, CLOUDSDK_ROOT_DIR } = process.env;
  const gcloud = onPath('gcloud');
  const ofGcloud = gcloud === undefined ? undefined : dirname(dirname(realpathSync(gcloud)));
  const usual = ['/usr/lib/google-cloud-sdk', join(homedir(), 'google-cloud-sdk')];
  return [CLOUDSDK_ROOT, CLOUDSDK_ROOT_DIR, ofGcloud, ...usual].filter((root) => root !== undefined);
}

function ofJavaHome(): string | undefined {
  const { JAVA_HOME } = process.env;
  const java = join(JAVA_HOME ?? '', 'bin', 'java');
  return JAVA_HOME !== undefined && existsSync(java) ? java : undefined;
}

function onPath(program: string): string | undefined {
  const directories = (process.env.PATH ?? '').split(delimiter);
  return directories.map((directory) => join(directory, program)).find((file) => existsSync(file));
}
