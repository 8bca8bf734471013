/** Takes away all documents of a project: the emulator keeps them in memory until it ends. */
export async function emptyEmulator(address: string, projectId: string): Promise<void> {
  const url = `http://${address}/emulator/v1/projects/${projectId}/databases/(default)/documents`;
  const { ok, status } = await fetch(url, { method: 'DELETE' });
  if (!ok) throw new Error(`the emulator could not be emptied: ${status}`);
}
