# By default, Firestore indexes every field of every collection. That costs storage and slows each write, and an index of a date
# that grows limits a collection to 500 writes a second.
# The service finds documents by id and by `partition` only (docs/decisions/0003-documents-of-the-store.md).
locals {
  indexed_collections = [
    for override in jsondecode(file("${path.module}/../../../firestore.indexes.json")).fieldOverrides : override.collectionGroup
    if override.fieldPath == "partition"
  ]
}

resource "google_firestore_field" "not_indexed" {
  project         = var.project_id
  database        = google_firestore_database.this.name
  collection      = "__default__"
  field           = "*"
  deletion_policy = "ABANDON"

  index_config {}
}

resource "google_firestore_field" "partition" {
  for_each = toset(local.indexed_collections)

  project         = var.project_id
  database        = google_firestore_database.this.name
  collection      = each.key
  field           = "partition"
  deletion_policy = "ABANDON"

  index_config {
    indexes {
      order       = "ASCENDING"
      query_scope = "COLLECTION"
    }
  }
}
