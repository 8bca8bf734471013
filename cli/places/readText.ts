/** Reads a response of limited size; what exceeds it is cut off. */
export async function readText(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size > maxBytes) break;
  }
  return Buffer.concat(chunks).toString('utf8', 0, maxBytes);
}
