import { readDescription } from './description.js';
import { element, find, paragraphs, phrases } from './dom.js';
import { showOperation, showOutcome } from './operation.js';
import { Session } from './session.js';
import { showTheme } from './theme.js';

/**
 * Shows `openapi.json`, with a form to try each operation.
 *
 * @import { Description, Operation } from './description.js'
 */

const introduction = find('#introduction', HTMLElement);
showTheme();
const session = new Session();
try {
  const response = await fetch('openapi.json');
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
  show(readDescription(await response.json()));
} catch (error) {
  const text = `Cannot read the description of the API: ${String(error)}`;
  introduction.replaceChildren(element('p', { class: 'error' }, text));
}

/** @param {Description} description */
function show({ info, tags, operations, commonOutcomes }) {
  document.title = `${info.title} API`;
  const version = element('span', { class: 'hint' }, `Version ${info.version}`);
  introduction.replaceChildren(
    element('p', { class: 'lead' }, info.summary, ' ', version),
    ...paragraphs(info.description),
  );
  for (const { name, description } of tags) {
    const group = operations.filter(({ tag }) => tag === name);
    find('#operations', HTMLElement).append(
      element('h2', {}, name),
      element('p', { class: 'hint' }, ...phrases(description)),
      ...group.map((operation) => showOperation(operation, session)),
    );
    find('nav', HTMLElement).append(
      element('section', {}, element('h2', {}, name), element('ul', {}, ...group.map(entryOf))),
    );
  }
  find('#common', HTMLElement).append(...commonOutcomes.map(showOutcome));
  showContents(new Map(operations.map((operation) => [`#${operation.id}`, textOf(operation)])));
  document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

/** @param {Operation} operation */
function entryOf({ id, method, summary }) {
  const label = element('span', { class: `method ${method}` }, method);
  return element('li', {}, element('a', { href: `#${id}` }, summary, label));
}

/**
 * Lets the user search the list of operations, and marks the operation that is on the screen.
 *
 * @param {ReadonlyMap<string, string>} texts the text of each operation by its fragment
 */
function showContents(texts) {
  const contents = find('#contents', HTMLDetailsElement);
  const search = find('#contents input', HTMLInputElement);
  const status = find('#contents [role=status]', HTMLElement);
  const links = [...contents.querySelectorAll('a')];

  search.addEventListener('input', () => {
    const words = search.value.toLowerCase().split(/\s+/);
    for (const link of links) {
      const isMatch = words.every((word) => texts.get(link.hash)?.includes(word));
      link.parentElement?.toggleAttribute('hidden', !isMatch);
    }
    for (const section of contents.querySelectorAll('section')) {
      section.hidden = section.querySelector('li:not([hidden])') === null;
    }
    const count = contents.querySelectorAll('li:not([hidden])').length;
    status.textContent = search.value === '' ? '' : `${count} of ${links.length} operations`;
  });
  search.addEventListener('keydown', ({ key }) => {
    if (key === 'Enter') links.find(({ parentElement }) => !parentElement?.hidden)?.click();
  });

  const isWide = matchMedia('(width >= 60rem)');
  const adapt = () => contents.toggleAttribute('open', isWide.matches);
  isWide.addEventListener('change', adapt);
  adapt();
  for (const link of links) link.addEventListener('click', adapt);

  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        const link = links.find(({ hash }) => hash === `#${target.id}`);
        if (isIntersecting) link?.setAttribute('aria-current', 'true');
        else link?.removeAttribute('aria-current');
      }
    },
    { rootMargin: '-20% 0px -79%' },
  );
  for (const section of document.querySelectorAll('.operation')) observer.observe(section);
}

/**
 * The text of an operation for the search.
 *
 * @param {Operation} operation
 */
function textOf({ method, path, summary, description, parameters, body, outcomes }) {
  const names = parameters.map(({ name }) => name);
  const fields = Object.keys(body?.properties ?? body?.items?.properties ?? {});
  const responses = outcomes.map(({ status, message }) => `${status} ${message}`);
  return [method, path, summary, description, ...names, ...fields, ...responses].join(' ').toLowerCase();
}
