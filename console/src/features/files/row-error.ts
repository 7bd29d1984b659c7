import { TEXT_LENGTH_MAX } from '../../../../src/client/index.ts';
import { ROW_SIZE_MAX, type RowError } from '../../../../src/formats/row.ts';
import { formatMessage } from '../../language/format.ts';
import { allTexts } from '../../language/texts.ts';

/** Why a row cannot be imported. */
export function explainRowError(error: RowError): string {
  const { rowErrors, columns } = allTexts.value;
  const max = error.kind === 'row-too-long' ? ROW_SIZE_MAX : TEXT_LENGTH_MAX;
  const isText = error.kind === 'text' || error.kind === 'text-too-long';
  const values = isText ? { field: columns[error.field] } : error;
  return formatMessage(rowErrors[error.kind], { max, ...values });
}
