/** Writes a Markdown table, without columns that are empty in every row. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const used = head.map((_name, column) => rows.some((row) => row[column] !== ''));
  const line = (cells: readonly string[]) => `| ${cells.filter((_cell, column) => used[column]).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map((row) => line(row.map(escapePipes)))].join('\n');
}

export function code(text: string): string {
  return text === '' ? '' : text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``;
}

function escapePipes(cell: string): string {
  return cell.replaceAll('|', '\\|');
}
