import { DataTypes, Sequelize } from 'sequelize';

export const sequelize = new Sequelize(process.env.DB_URL, {
  dialect: 'postgres',
  logging: false,
  pool: { max: 16, min: 2 },
});

export const Book = sequelize.define(
  'Book',
  {
    title: { type: DataTypes.TEXT, allowNull: false, defaultValue: '' },
    author: { type: DataTypes.TEXT, allowNull: false, defaultValue: '' },
    year: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 0 },
  },
  { tableName: 'books', timestamps: false },
);
