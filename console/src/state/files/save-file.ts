/** A file that is being written; `abort` discards it. */
export interface Target {
  write(text: string): Promise<void>;
  close(): Promise<void>;
  abort(): Promise<void>;
}

/** The file picker of the WICG File System Access API, which TypeScript does not declare. */
interface Picker {
  showSaveFilePicker?: (options: { suggestedName: string }) => Promise<FileSystemFileHandle>;
}

/**
 * Lets the user choose where to save a file, or downloads it if the browser has no such dialog. Browsers require a click.
 *
 * @returns undefined when the user cancels
 */
export async function chooseTarget(name: string, type: string): Promise<Target | undefined> {
  const { showSaveFilePicker } = window as Picker;
  if (!showSaveFilePicker) return download(name, type);
  try {
    const handle = await showSaveFilePicker.call(window, { suggestedName: name });
    return await handle.createWritable();
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return undefined;
    return download(name, type);
  }
}

/** A download, which is in memory until it is complete. */
export function download(name: string, type: string): Target {
  let parts: Blob[] = [];
  return {
    async write(text) {
      parts.push(new Blob([text]));
    },
    async close() {
      const url = URL.createObjectURL(new Blob(parts, { type }));
      const link = document.createElement('a');
      link.href = url;
      link.download = name;
      link.click();
      // The download starts some time after the click.
      setTimeout(() => URL.revokeObjectURL(url), REVOCATION_MS);
    },
    async abort() {
      parts = [];
    },
  };
}

const REVOCATION_MS = 60_000;
