/** Makes the browser warn before the page is left, if this is so then. */
export function warnBeforeLeaving(isNeeded: () => boolean): void {
  addEventListener('beforeunload', (event) => {
    if (isNeeded()) event.preventDefault();
  });
}
