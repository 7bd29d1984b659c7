/** A place where a file goes. */
export interface Target {
  write(text: string): Promise<void>;
  /** Ends the file, which is there from now on. */
  close(): Promise<void>;
  /** Leaves nothing behind. */
  abort(): Promise<void>;
}

/** What browsers have that let people choose a place (WICG File System Access), of which TypeScript knows nothing. */
interface Picker {
  showSaveFilePicker?: (options: { suggestedName: string }) => Promise<FileSystemFileHandle>;
}

/**
 * Asks where a file should go; where browsers do not ask, it goes where downloads go, and is in memory until it is complete.
 * Has to be called while a click is handled.
 *
 * @returns undefined when the person thinks better of it
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

/** A file among the downloads. */
export function download(name: string, type: string): Target {
  let parts: Blob[] = [];
  return {
    async write(text) {
      // Blobs are kept by the browser, outside of the page.
      parts.push(new Blob([text]));
    },
    async close() {
      const url = URL.createObjectURL(new Blob(parts, { type }));
      const link = document.createElement('a');
      link.href = url;
      link.download = name;
      link.click();
      // Browsers take some time to begin.
      setTimeout(() => URL.revokeObjectURL(url), REVOCATION_MS);
    },
    async abort() {
      parts = [];
    },
  };
}

const REVOCATION_MS = 60_000;
