const REVOCATION_MS = 60_000;

/** Downloads a file, which is in memory until it is complete; nothing is saved if `texts` throws. */
export async function download(name: string, type: string, texts: AsyncIterable<string>): Promise<void> {
  const parts: Blob[] = [];
  for await (const text of texts) parts.push(new Blob([text]));
  const url = URL.createObjectURL(new Blob(parts, { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The download starts some time after the click.
  setTimeout(() => URL.revokeObjectURL(url), REVOCATION_MS);
}
