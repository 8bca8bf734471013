import { firestoreEmulator } from './withFirestore.ts';

/** One request to the REST API of Firestore, as a client in a browser can send it; the path begins behind the database. */
export type ClientRequest = readonly [method: string, path: string, body?: object];

/** A client that is signed in as far as the emulator can tell: it takes tokens without a signature. */
export function signedIn(projectId: string): string {
  const now = Math.floor(Date.now() / 1000);
  const times = { iat: now, auth_time: now, exp: now + 3_600 };
  const claims = { iss: `https://securetoken.google.com/${projectId}`, aud: projectId, sub: 'alice', ...times };
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  return `Bearer ${encode({ alg: 'none', typ: 'JWT' })}.${encode({ ...claims, user_id: 'alice' })}.`;
}

/** Puts security rules in force for one project of the emulator: a project that has none is open to everyone. */
export async function putRules(projectId: string, content: string): Promise<void> {
  const rules = { files: [{ name: 'firestore.rules', content }] };
  const url = `http://${firestoreEmulator}/emulator/v1/projects/${projectId}:securityRules`;
  const response = await fetch(url, { method: 'PUT', body: JSON.stringify({ rules }) });
  if (!response.ok) throw new Error(`the emulator refused the rules: ${await response.text()}`);
}

/** Sends a request to a project's database, without `authorization` as a client that is not signed in; gives the answer's status. */
export async function statusFor(
  projectId: string,
  [method, path, body]: ClientRequest,
  authorization: string | undefined,
): Promise<number> {
  const response = await fetch(`http://${firestoreEmulator}/v1/projects/${projectId}/databases/(default)/${path}`, {
    method,
    headers: authorization === undefined ? {} : { authorization },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  await response.arrayBuffer();
  return response.status;
}
