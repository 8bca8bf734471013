const longestMessage = 300;

/**
 * Describes a fault for the log: its name, the first line of its message, its code and its stack, then its cause.
 * A SyntaxError's message is left out, because parsers quote the input there.
 */
export function faultText(fault: unknown): string {
  if (!(fault instanceof Error)) return `a thrown ${typeof fault}`;
  const cause = fault.cause instanceof Error ? `\nCaused by: ${faultText(fault.cause)}` : '';
  return [title(fault), ...frames(fault)].join('\n') + cause;
}

function title(fault: Error): string {
  const code = 'code' in fault ? ` [${String(fault.code)}]` : '';
  if (fault instanceof SyntaxError) return `${fault.name}${code}`;
  const [firstLine = ''] = fault.message.split('\n');
  return `${fault.name}${code}: ${firstLine.slice(0, longestMessage)}`;
}

function frames(fault: Error): string[] {
  const lines = (fault.stack ?? '').split('\n');
  return lines.filter((line) => /^ {4}at /.test(line));
}
