/** Parses text that may be no JSON, as no schema accepts the `undefined` that is returned then. */
export function parseIfJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
