let lastUse = 0;

for (const event of ['pointerdown', 'keydown', 'wheel', 'touchmove']) {
  addEventListener(
    event,
    () => {
      lastUse = Date.now();
    },
    { capture: true, passive: true },
  );
}

/** Whether somebody has done something with the page since then, in milliseconds since 1970. */
export function hasBeenUsedSince(time: number): boolean {
  return lastUse > time;
}
